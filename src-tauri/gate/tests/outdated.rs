//! Grants that rest on other rules of reading calls than those in force.
#![allow(clippy::unwrap_used, missing_docs)]

use std::{os::unix::fs::DirBuilderExt as _, path::Path};

use placet_domain::{
    Action, At, By, Entry, Fact, Grant, GrantState, Scope,
    grant::{Effect, GrantWho, On, ScopeAction, ScopeWho},
};
use placet_gate::{Flags, Host, Options, Places, Seat, open};
use placet_store::{ChainKey, Store};
use placet_subject::NORMALIZER_VERSION;
use serde_json::json;

fn grant(number: u64, effect: Effect, normalizer: &str, now: At) -> Grant {
    let scope = Scope {
        who: ScopeWho::Agent,
        action: ScopeAction::Tool,
        on: On::Path("/nowhere/a.txt".into()),
        expires_in_ms: 3_600_000,
        uses: None,
    };
    Grant {
        id: format!("01890a5d-ac96-774b-bcce-{number:012}").parse().unwrap(),
        effect,
        scope,
        who: GrantWho::Agent { agent: "claude-code".parse().unwrap() },
        tool: Some("Read".into()),
        action: Action::Read,
        from_approval: "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap(),
        by: By::User,
        issued_at_ms: now,
        expires_at_ms: now.plus_ms(3_600_000),
        uses_left: None,
        used: 0,
        last_used_at_ms: None,
        root: None,
        action_digest: None,
        ran_in: None,
        beside: Vec::new(),
        definition: None,
        normalizer: normalizer.to_owned(),
        sentence: format!("grant {number}"),
        state: GrantState::Active,
    }
}

/// A history in which another version of Placet gave these.
fn given_before(data: &Path, grants: &[Grant], now: At) {
    std::fs::DirBuilder::new().mode(0o700).create(data).unwrap();
    let key = ChainKey::load_or_make(&data.join("history.key"), || [7; 32]).unwrap();
    let mut opened = Store::open(&data.join("history.db"), key).unwrap();
    let issued =
        |(seq, grant): (u64, &Grant)| Entry { seq, at_ms: now, fact: Fact::GrantIssued { grant: grant.clone() } };
    let entries: Vec<Entry> = (1..).zip(grants).map(issued).collect();
    opened.store.append(&entries, &[]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_rests_on_other_rules_of_reading_is_dead_and_a_no_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (data, config) = (folder.path().join("data"), folder.path().join("config"));
    let now = At(i64::try_from(std::time::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap());
    let grants = [
        grant(1, Effect::Allow, "n/0", now),
        grant(2, Effect::Deny, "n/0", now),
        grant(3, Effect::Allow, NORMALIZER_VERSION, now),
        grant(4, Effect::Allow, "", now),
    ];
    given_before(&data, &grants, now);
    let places = Places::new(&Flags { data_dir: Some(data), config_dir: Some(config), socket: None }).unwrap();
    for _ in 0..2 {
        let options = Options { places: places.clone(), host: Host::Supervised, version: "0.0.0".to_owned() };
        let gate = open(options).await.unwrap();
        let list = gate.desk(Seat::Supervisor).call("grants.list", json!({})).await.unwrap();
        let mut states: Vec<(&str, &str)> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (item["sentence"].as_str().unwrap(), item["state"].as_str().unwrap()))
            .collect();
        states.sort_unstable();
        assert_eq!(states, [("grant 1", "dead"), ("grant 2", "active"), ("grant 3", "active"), ("grant 4", "dead")]);
        gate.close().await;
    }
}
