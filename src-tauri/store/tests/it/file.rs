use std::{fs, ops::ControlFlow, os::unix::fs::PermissionsExt as _};

use placet_domain::Fact;
use placet_store::{ChainKey, Store, StoreError};
use rusqlite::Connection;

use crate::world::*;

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn only_its_owner_reads_the_file_and_what_lies_beside_it() {
    let mut w = World::new();
    w.write(vec![Fact::AppStopped {}]).unwrap();
    let folder = w.file().parent().unwrap().to_owned();
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{file:?}");
    }
    // One that was opened to others by mistake is closed again.
    fs::set_permissions(w.file(), fs::Permissions::from_mode(0o644)).unwrap();
    w.reopen();
    assert_eq!(mode(&w.file()), 0o600);
}

#[test]
fn a_file_from_a_newer_version_is_refused_untouched() {
    let mut w = World::new();
    w.write(vec![Fact::AppStopped {}]).unwrap();
    let file = w.file();
    drop(w.opened);
    let conn = Connection::open(&file).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(conn);
    let before = (fs::read(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap());
    let refused = Store::open(&file, key()).unwrap_err();
    assert!(matches!(refused, StoreError::Newer { found: 99, .. }), "{refused}");
    assert_eq!((fs::read(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap()), before);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing was put beside it");
}

#[test]
fn a_file_of_another_program_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "not a database, but somebody's notes").unwrap();
    assert!(matches!(Store::open(&file, key()), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a database, but somebody's notes");
    let file = folder.path().join("other.db");
    let conn = Connection::open(&file).unwrap();
    conn.execute_batch("PRAGMA application_id = 7; CREATE TABLE x (y)").unwrap();
    drop(conn);
    let before = fs::read(&file).unwrap();
    assert!(matches!(Store::open(&file, key()), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn the_key_is_made_once_and_kept_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys/chain.key");
    ChainKey::load_or_make(&path, || [9; 32]).unwrap();
    assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, vec![9; 32]));
    ChainKey::load_or_make(&path, || unreachable!("it is there")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(ChainKey::load_or_make(&path, || [9; 32]), Err(StoreError::Key { .. })));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, [1; 31]).unwrap();
    assert!(matches!(ChainKey::load_or_make(&path, || [9; 32]), Err(StoreError::Key { .. })));
}

#[test]
fn the_log_keeps_its_size_while_facts_are_written() {
    let mut w = World::new();
    let log = w.file().with_file_name("placet.db-wal");
    let before = fs::metadata(&log).unwrap().len();
    assert!(before > 4_000_000, "{before}");
    for _ in 0..300 {
        w.write(vec![Fact::AppStopped {}]).unwrap();
    }
    assert_eq!(fs::metadata(&log).unwrap().len(), before);
}

#[test]
fn several_threads_read_while_one_writes() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    let reader = w.opened.reader.clone();
    let readers: Vec<_> = (0..6)
        .map(|_| {
            let reader = reader.clone();
            std::thread::spawn(move || {
                for _ in 0..50 {
                    let head = reader.head().unwrap();
                    assert!(reader.facts(0, 1_000).unwrap().len() as u64 >= head.seq);
                }
            })
        })
        .collect();
    for n in 0..100 {
        w.write(vec![allowed(1, call("Read", vec![], n), vec![])]).unwrap();
    }
    for thread in readers {
        thread.join().unwrap();
    }
    assert!(reader.verify(None, &mut |_| ControlFlow::Continue(())).unwrap().intact);
}
