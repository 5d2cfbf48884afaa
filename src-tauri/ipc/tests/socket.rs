//! Both sides of the socket against each other, and what each refuses.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    os::{
        fd::AsFd as _,
        unix::{fs::PermissionsExt as _, net::UnixStream},
    },
    time::Duration,
};

use placet_ipc::{
    Client, ClientError, Flags, GateLock, HostKind, LineReader, LineWriter, Lines, Listener, MAX_LINE_BYTES, Moment,
    PROTOCOL, Peer, PlaceError, Places, Request, Response, ServerError, TryLock, Waited, Waker,
    message::{Done, HelloBack, Nothing, method},
    this_process,
};

const SOON: Duration = Duration::from_secs(5);

struct Gate {
    _dir: tempfile::TempDir,
    places: Places,
    _lock: GateLock,
    listener: Listener,
}

fn places() -> (tempfile::TempDir, Places) {
    let dir = tempfile::tempdir().unwrap();
    let flags =
        Flags { data_dir: Some(dir.path().join("d")), config_dir: Some(dir.path().join("c")), ..Flags::default() };
    let places = Places::new(&flags).unwrap();
    places.prepare().unwrap();
    (dir, places)
}

fn gate() -> Gate {
    let (dir, places) = places();
    let TryLock::Held(lock) = GateLock::try_lock(&places, HostKind::Serve).unwrap() else { panic!("taken") };
    let listener = Listener::bind(&places, &lock).unwrap();
    Gate { _dir: dir, places, _lock: lock, listener }
}

async fn next(reader: &mut LineReader) -> Request {
    Request::parse(&reader.next().await.unwrap().unwrap()).unwrap()
}

async fn greet(reader: &mut LineReader, writer: &mut LineWriter, protocol: u32) {
    let hello = next(reader).await;
    assert_eq!(hello.method, method::HELLO);
    let back = HelloBack { protocol, server: "placet".into(), version: "0".into() };
    writer.write(&Response::new(hello.id, Ok(back))).await.unwrap();
}

async fn accept(gate: &Gate) -> (Peer, Lines) {
    gate.listener.accept().await.unwrap()
}

#[tokio::test]
async fn a_client_is_known_by_its_process_and_gets_its_answer() {
    let gate = gate();
    assert_eq!(fs::metadata(&gate.places.socket).unwrap().permissions().mode() & 0o777, 0o600);
    let places = gate.places.clone();
    let client = std::thread::spawn(move || {
        let mut client = Client::connect(&places, "test", "0", SOON).unwrap();
        client.call::<_, Done>(method::PAUSE, &Nothing {}, SOON).unwrap()
    });
    let (peer, Lines { mut reader, mut writer }) = accept(&gate).await;
    assert_eq!(peer.waiter(), Some(this_process()));
    greet(&mut reader, &mut writer, PROTOCOL).await;
    let pause = next(&mut reader).await;
    pause.params::<Nothing>().unwrap();
    writer.write(&Response::new(pause.id, Ok(Done {}))).await.unwrap();
    assert!(reader.next().await.unwrap().is_none());
    assert_eq!(client.join().unwrap(), Done {});
}

#[tokio::test]
async fn another_version_is_refused() {
    let gate = gate();
    let places = gate.places.clone();
    let client = std::thread::spawn(move || Client::connect(&places, "test", "0", SOON));
    let (_, Lines { mut reader, mut writer }) = accept(&gate).await;
    greet(&mut reader, &mut writer, PROTOCOL + 1).await;
    assert!(matches!(client.join().unwrap(), Err(ClientError::Version(_))));
}

#[tokio::test]
async fn waiting_ends_by_a_waker_by_the_deadline_and_by_the_gates_end() {
    let gate = gate();
    let places = gate.places.clone();
    let client = std::thread::spawn(move || Client::connect(&places, "test", "0", SOON).unwrap());
    let (_, Lines { mut reader, mut writer }) = accept(&gate).await;
    greet(&mut reader, &mut writer, PROTOCOL).await;
    let mut client = client.join().unwrap();
    let soon = || Moment::in_(Duration::from_millis(30));
    assert!(matches!(client.wait(&[], soon()).unwrap(), Waited::Deadline));

    let (here, there) = UnixStream::pair().unwrap();
    let (quiet, _kept) = UnixStream::pair().unwrap();
    drop(there);
    let wakers = [Waker::readable(quiet.as_fd()), Waker::hung_up(here.as_fd())];
    assert!(matches!(client.wait(&wakers, Moment::in_(SOON)).unwrap(), Waited::Woken(1)));

    drop((reader, writer));
    assert!(matches!(client.wait(&[], Moment::in_(SOON)), Err(ClientError::Closed)));
}

#[test]
fn no_gate_is_told_at_once() {
    let (_dir, places) = places();
    let error = Client::connect(&places, "test", "0", SOON).unwrap_err();
    assert!(matches!(error, ClientError::Unreachable { .. }), "{error}");
    assert!(error.may_pass());
}

#[tokio::test]
async fn a_folder_or_a_socket_that_others_may_open_is_no_gate() {
    let gate = gate();
    fs::set_permissions(&gate.places.socket, fs::Permissions::from_mode(0o666)).unwrap();
    let error = Client::connect(&gate.places, "test", "0", SOON).unwrap_err();
    assert!(matches!(error, ClientError::FalseGate { .. }) && !error.may_pass(), "{error}");
    fs::set_permissions(gate.places.run(), fs::Permissions::from_mode(0o755)).unwrap();
    let error = Client::connect(&gate.places, "test", "0", SOON).unwrap_err();
    assert!(matches!(error, ClientError::Place(PlaceError::OpenToOthers { .. })) && !error.may_pass(), "{error}");
}

#[tokio::test]
async fn a_line_without_an_end_is_cut_off_and_half_a_line_is_no_line() {
    use std::io::Write as _;
    let gate = gate();
    let mut raw = UnixStream::connect(&gate.places.socket).unwrap();
    let (_, Lines { mut reader, .. }) = accept(&gate).await;
    let flood = std::thread::spawn(move || {
        let chunk = vec![b'x'; 1 << 20];
        while raw.write_all(&chunk).is_ok() {}
    });
    assert!(matches!(reader.next().await, Err(ServerError::LineTooLong)));
    drop(reader);
    flood.join().unwrap();

    let mut raw = UnixStream::connect(&gate.places.socket).unwrap();
    let (_, Lines { mut reader, .. }) = accept(&gate).await;
    raw.write_all(b"{\"half").unwrap();
    let short = Duration::from_millis(50);
    assert!(matches!(reader.next_within(short).await, Err(ServerError::TooSlow)));
    raw.write_all(b"\":1}\n").unwrap();
    assert_eq!(reader.next().await.unwrap().unwrap(), b"{\"half\":1}");
    raw.write_all(b"{\"half").unwrap();
    drop(raw);
    assert!(reader.next().await.unwrap().is_none());
}

#[test]
fn a_message_that_is_too_large_is_not_sent() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let guard = runtime.enter();
    let gate = gate();
    drop(guard);
    let places = gate.places.clone();
    let client = std::thread::spawn(move || {
        let mut client = Client::connect(&places, "test", "0", SOON).unwrap();
        client.send("x", &"y".repeat(MAX_LINE_BYTES), Moment::in_(SOON))
    });
    runtime.block_on(async {
        let (_, Lines { mut reader, mut writer }) = accept(&gate).await;
        greet(&mut reader, &mut writer, PROTOCOL).await;
        assert!(reader.next().await.unwrap().is_none());
    });
    assert!(matches!(client.join().unwrap(), Err(ClientError::Malformed(_))));
}

#[tokio::test]
async fn what_a_dead_gate_left_is_removed_by_the_next() {
    let Gate { _dir, places, _lock: lock, listener } = gate();
    let socket = std::os::unix::net::UnixListener::bind(places.run().join("left")).unwrap();
    drop(listener);
    drop(lock);
    assert!(!places.socket.exists());
    places.prepare().unwrap();
    fs::rename(places.run().join("left"), &places.socket).unwrap();
    drop(socket);
    let TryLock::Held(lock) = GateLock::try_lock(&places, HostKind::Window).unwrap() else { panic!("taken") };
    let _listener = Listener::bind(&places, &lock).unwrap();
    UnixStream::connect(&places.socket).unwrap();
}
