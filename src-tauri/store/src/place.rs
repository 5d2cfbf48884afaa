//! Where calls were: each path with the folders above it, each host with the domains above it, so that "under this
//! folder" and "at this domain" are looked up and not searched.

use std::{collections::BTreeSet, net::IpAddr};

use placet_domain::{CallFacts, PathText, Subject};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    StoreError, chain,
    store::{Known, Projecting},
};

/// Levels of a path that are kept, counted from the root; deeper ones are found by their first folders.
const LEVELS: usize = 32;
/// Places of a call that are kept; a call with more names is found by the first ones.
const PER_CALL: usize = 512;

/// A kind and a name.
pub(crate) type Place = (&'static str, Vec<u8>);

/// Notes where a call was.
pub(crate) fn write(p: &mut Projecting<'_>, call: u64, facts: &CallFacts) -> Result<(), StoreError> {
    for place in places_of(facts) {
        let no = number(p, place)?;
        p.conn
            .prepare_cached("INSERT OR IGNORE INTO call_places (place, call) VALUES (?1, ?2)")?
            .execute(params![no, chain::row_id(call)])?;
    }
    Ok(())
}

/// The number of a place, if any call was ever there.
pub(crate) fn find(conn: &Connection, place: &Place) -> Result<Option<i64>, StoreError> {
    let mut statement = conn.prepare_cached("SELECT no FROM places WHERE kind = ?1 AND name = ?2")?;
    Ok(statement.query_row(params![place.0, place.1], |row| row.get(0)).optional()?)
}

/// The place that "under this path" means.
pub(crate) fn path(path: &PathText) -> Place {
    ("path", trimmed(path.bytes()).to_vec())
}

/// The place that "at this host" means.
pub(crate) fn host(host: &str) -> Place {
    ("host", host_name(host).into_bytes())
}

/// Every place of a call.
pub(crate) fn places_of(facts: &CallFacts) -> BTreeSet<Place> {
    let mut places = BTreeSet::new();
    for subject in &facts.subjects {
        match subject {
            Subject::Path(path) => {
                add_path(&mut places, &path.resolved);
                add_path(&mut places, &path.normalized);
            }
            Subject::Url(url) => add_host(&mut places, &url.host),
            Subject::Command(command) => {
                for host in command.commands.iter().flat_map(|c| &c.hosts) {
                    add_host(&mut places, host);
                }
            }
            Subject::Mcp(_) | Subject::Tool(_) => {}
        }
        if places.len() >= PER_CALL {
            break;
        }
    }
    places
}

fn add_path(places: &mut BTreeSet<Place>, path: &PathText) {
    let path = trimmed(path.bytes());
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    for end in slashes.chain([path.len()]).take(LEVELS) {
        places.insert(("path", path.get(..end.max(1)).unwrap_or(path).to_vec()));
    }
}

fn add_host(places: &mut BTreeSet<Place>, host: &str) {
    let host = host_name(host);
    if host.parse::<IpAddr>().is_ok() {
        places.insert(("host", host.into_bytes()));
        return;
    }
    let mut rest = host.as_str();
    for _ in 0..LEVELS {
        if rest.is_empty() {
            break;
        }
        places.insert(("host", rest.as_bytes().to_vec()));
        rest = rest.split_once('.').map_or("", |(_, parent)| parent);
    }
}

fn trimmed(path: &[u8]) -> &[u8] {
    match path.strip_suffix(b"/") {
        Some(rest) if !rest.is_empty() => rest,
        _ => path,
    }
}

fn host_name(host: &str) -> String {
    host.trim_end_matches('.').trim_start_matches("*.").to_ascii_lowercase()
}

fn number(p: &mut Projecting<'_>, place: Place) -> Result<i64, StoreError> {
    if let Some(no) = p.known.places.get(&place) {
        return Ok(*no);
    }
    let no = if let Some(no) = find(p.conn, &place)? {
        no
    } else {
        p.conn.prepare_cached("INSERT INTO places (kind, name) VALUES (?1, ?2)")?.execute(params![place.0, place.1])?;
        p.conn.last_insert_rowid()
    };
    if p.known.places.len() >= Known::AT_MOST {
        p.known.places.clear();
    }
    p.known.places.insert(place, no);
    Ok(no)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(places: &BTreeSet<Place>) -> Vec<String> {
        places.iter().map(|(_, name)| String::from_utf8_lossy(name).into_owned()).collect()
    }

    #[test]
    fn a_path_is_under_every_folder_above_it() {
        let mut places = BTreeSet::new();
        add_path(&mut places, &"/w/src/a.rs".into());
        assert_eq!(names(&places), ["/", "/w", "/w/src", "/w/src/a.rs"]);
        let mut places = BTreeSet::new();
        add_path(&mut places, &"/".into());
        assert_eq!(names(&places), ["/"]);
        assert_eq!(path(&"/w/src/".into()), ("path", b"/w/src".to_vec()));
    }

    #[test]
    fn a_host_is_at_every_domain_above_it_and_an_address_only_at_itself() {
        let mut places = BTreeSet::new();
        add_host(&mut places, "API.example.com.");
        assert_eq!(names(&places), ["api.example.com", "com", "example.com"]);
        let mut places = BTreeSet::new();
        add_host(&mut places, "10.0.0.1");
        assert_eq!(names(&places), ["10.0.0.1"]);
    }
}
