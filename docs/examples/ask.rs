//! Asks Placet whether a command may run, and runs it if so: `ask SOCKET`. It needs the crate `serde_json`.
use std::io::{BufRead, BufReader, Write};
use std::{env, error::Error, os::unix::net::UnixStream, process::Command};

use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut writer = UnixStream::connect(env::args().nth(1).ok_or("usage: ask SOCKET")?)?;
    let mut lines = BufReader::new(writer.try_clone()?).lines();
    let mut ask = |id: u64, method: &str, params: Value| -> Result<Value, Box<dyn Error>> {
        writeln!(writer, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let reply: Value = serde_json::from_str(&lines.next().ok_or("the gate hung up")??)?;
            match reply.get("result") {
                Some(result) if reply["id"] == id => return Ok(result.clone()),
                _ if reply.get("error").is_some() => return Err(reply["error"]["message"].to_string().into()),
                _ => {} // what has no id is a notification
            }
        }
    };
    let here = env::current_dir()?;
    ask(1, "hello", json!({"protocol": 1, "client": "example", "version": "1"}))?;
    let session = ask(2, "session.start", json!({"agent": "example", "workspace": here}))?["session"].take();
    let input = json!({"command": "echo from-rust"});
    let call = json!({"session": session, "tool": "Bash", "input": input, "cwd": here});
    let answer = ask(3, "call.check", call)?; // as long as a person takes
    if answer["decision"] != "allow" {
        return Err(answer["reason"].to_string().into());
    }
    Command::new("bash").arg("-c").arg(input["command"].as_str().unwrap_or_default()).status()?;
    Ok(())
}
