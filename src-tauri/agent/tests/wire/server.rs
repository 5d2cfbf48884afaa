//! A provider on loopback that answers by a script.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
};

use serde_json::Value;

/// A server that gives these answers in order, each a whole HTTP response, and keeps the requests.
pub struct Server {
    pub url: String,
    heard: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    pub fn start(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heard = Arc::new(Mutex::new(Vec::new()));
        let keeping = Arc::clone(&heard);
        std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let (mut top, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    reader.read_line(&mut line).unwrap();
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    if line == "\r\n" {
                        break;
                    }
                    top.push_str(&line);
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                keeping.lock().unwrap().push((top, serde_json::from_slice(&body).unwrap()));
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { url, heard }
    }

    pub fn heard(&self) -> Vec<(String, Value)> {
        self.heard.lock().unwrap().clone()
    }
}

pub fn stream(events: &[Value], last: &str) -> String {
    let body = events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat();
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}{last}")
}
