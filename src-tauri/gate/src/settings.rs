//! `settings.toml`: how the person is told, and what an agent hears that finds no gate. Nothing in it allows anything.

use std::{fs, io, path::Path, str::FromStr};

use jiff::{Timestamp, civil::Time, tz::TimeZone};
use placet_domain::At;
use placet_ipc::{Flags, Places};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml_edit::{DocumentMut, Item, Table, value};

const FILE: &str = "settings.toml";

/// What the person set, with what stands where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Settings {
    /// How they are told of what waits.
    #[serde(default)]
    pub notifications: Notifications,
    /// What an agent hears that finds no gate, where that is said.
    #[serde(default)]
    pub when_no_gate: Option<WhenNoGate>,
}

/// What an agent hears that finds no gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenNoGate {
    /// One is started, and asked.
    Start,
    /// No.
    Deny,
    /// Nothing: the client goes by its own rules.
    Client,
}

/// `[notifications]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Notifications {
    /// Whether there are any.
    pub on: bool,
    /// When more than this many calls come within ten seconds, the further ones share a notification. 1 to 100.
    pub gather_over: u32,
    /// Whether they make a sound.
    pub sound: bool,
    /// When there are none.
    pub quiet: Quiet,
}

impl Default for Notifications {
    fn default() -> Self {
        Self { on: true, gather_over: 3, sound: false, quiet: Quiet::default() }
    }
}

/// Hours of the day, by the clock on the wall, in which nobody is told. What waits still waits, and still expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quiet {
    /// Whether they are kept.
    pub on: bool,
    /// From this minute on.
    pub from: TimeOfDay,
    /// Until just before this one, of the next day where it is the earlier one.
    pub to: TimeOfDay,
}

impl Default for Quiet {
    fn default() -> Self {
        Self { on: false, from: TimeOfDay(Time::constant(22, 0, 0, 0)), to: TimeOfDay(Time::constant(7, 0, 0, 0)) }
    }
}

impl Quiet {
    /// Whether this moment is within, by the clock on the wall here. The zone is looked up now: a person travels.
    pub fn covers_here(&self, at: At) -> bool {
        self.on && self.covers(at, &TimeZone::system())
    }

    /// Whether this moment is within, where the clock on the wall is that of the zone.
    pub fn covers(&self, at: At, zone: &TimeZone) -> bool {
        let Ok(moment) = Timestamp::from_millisecond(at.0) else { return false };
        let (now, from, to) = (zone.to_datetime(moment).time(), self.from.0, self.to.0);
        self.on && if from <= to { (from..to).contains(&now) } else { now >= from || now < to }
    }
}

/// A minute of the day, `HH:MM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOfDay(Time);

impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = match text.as_bytes() {
            [_, _, b':', _, _] => Time::strptime("%H:%M", text).ok(),
            _ => None,
        };
        time.map(Self).ok_or_else(|| format!("{text:?} is no time of day; write for example \"22:00\""))
    }
}

impl std::fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:02}:{:02}", self.0.hour(), self.0.minute())
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What is to be another. What is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    pub(crate) notifications: Option<NotificationsChange>,
    pub(crate) when_no_gate: Option<WhenNoGate>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NotificationsChange {
    on: Option<bool>,
    gather_over: Option<u32>,
    sound: Option<bool>,
    quiet: Option<QuietChange>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuietChange {
    on: Option<bool>,
    from: Option<TimeOfDay>,
    to: Option<TimeOfDay>,
}

impl Settings {
    /// What the file in the configuration folder says; no file says nothing.
    ///
    /// # Errors
    /// In words: it cannot be read, or it has a mistake.
    pub fn read(config: &Path) -> Result<Self, String> {
        let file = config.join(FILE);
        let text = text_of(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        Self::parse(&text).map_err(|problem| format!("{}: {problem}", file.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let settings: Self = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        settings.notifications.checked()?;
        Ok(settings)
    }
}

impl Notifications {
    fn checked(&self) -> Result<(), String> {
        if !(1..=100).contains(&self.gather_over) {
            return Err("gather_over is at least 1 and at most 100".to_owned());
        }
        if self.quiet.from == self.quiet.to {
            return Err("quiet hours begin and end at the same time: choose two times".to_owned());
        }
        Ok(())
    }
}

/// Writes what is to be another into the file and leaves all else as it stands there, comments as well.
pub(crate) fn change(config: &Path, change: &Change) -> Result<(), ChangeError> {
    let file = config.join(FILE);
    let unreadable = |why: String| ChangeError::Unreadable(format!("{}: {why}", file.display()));
    let before = text_of(&file).map_err(|error| unreadable(error.to_string()))?;
    Settings::parse(&before).map_err(unreadable)?;
    let mut document: DocumentMut =
        before.parse().map_err(|error: toml_edit::TomlError| unreadable(error.to_string()))?;
    edit(&mut document, change);
    let after = document.to_string();
    if after == before {
        return Ok(());
    }
    Settings::parse(&after).map_err(ChangeError::Wrong)?;
    replace(&file, after.as_bytes()).map_err(ChangeError::Unwritten)
}

/// Why a change was not made.
#[derive(Debug)]
pub(crate) enum ChangeError {
    /// What stands in the file is not understood, so nothing is put beside it.
    Unreadable(String),
    /// What it would be afterwards is not allowed.
    Wrong(String),
    /// The disk says no.
    Unwritten(io::Error),
}

fn edit(document: &mut DocumentMut, change: &Change) {
    if let Some(then) = change.when_no_gate {
        let word = match then {
            WhenNoGate::Start => "start",
            WhenNoGate::Deny => "deny",
            WhenNoGate::Client => "client",
        };
        set(document.as_table_mut(), "when_no_gate", word);
    }
    let Some(notifications) = &change.notifications else { return };
    let Some(table) = within(document.as_table_mut(), "notifications") else { return };
    let NotificationsChange { on, gather_over, sound, quiet } = notifications;
    if let Some(on) = *on {
        set(table, "on", on);
    }
    if let Some(count) = *gather_over {
        set(table, "gather_over", i64::from(count));
    }
    if let Some(sound) = *sound {
        set(table, "sound", sound);
    }
    let Some(QuietChange { on, from, to }) = quiet else { return };
    let Some(table) = within(table, "quiet") else { return };
    if let Some(on) = *on {
        set(table, "on", on);
    }
    for (name, time) in [("from", from), ("to", to)] {
        if let Some(time) = time {
            set(table, name, time.to_string());
        }
    }
}

/// The table of this name. None where something else has the name: what parses as settings has none such.
fn within<'a>(table: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    let item = table.entry(name).or_insert_with(|| Item::Table(Table::new()));
    if let Some(inline) = item.as_inline_table() {
        *item = Item::Table(inline.clone().into_table());
    }
    item.as_table_mut()
}

/// Puts a value in its place, with the comments that stand around it there.
pub(crate) fn set(table: &mut Table, name: &str, to: impl Into<toml_edit::Value>) {
    let mut new = value(to);
    let Some(old) = table.get_mut(name) else {
        table.insert(name, new);
        return;
    };
    if let (Some(old), Some(new)) = (old.as_value(), new.as_value_mut()) {
        *new.decor_mut() = old.decor().clone();
    }
    *old = new;
}

fn text_of(file: &Path) -> io::Result<String> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Writes a file as a whole or not at all; it is its owner's alone.
pub(crate) fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use io::Write as _;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let temporary = file.with_file_name(format!(".{name}.new"));
    // One that a crash left behind is nobody's.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    new.write_all(bytes)?;
    new.sync_all()?;
    fs::rename(&temporary, file)?;
    file.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all())
}

/// What an agent hears that finds no gate: as `settings.toml` says, or what stands without it: the person's own gate is
/// started, any other is not. A file that cannot be read is a no.
pub fn when_no_gate(places: &Places) -> WhenNoGate {
    #[derive(Deserialize)]
    struct Only {
        when_no_gate: Option<WhenNoGate>,
    }
    let unsaid = if is_the_persons_own(places) { WhenNoGate::Start } else { WhenNoGate::Deny };
    let Ok(text) = text_of(&places.config.join(FILE)) else { return WhenNoGate::Deny };
    toml::from_str::<Only>(&text).map_or(WhenNoGate::Deny, |settings| settings.when_no_gate.unwrap_or(unsaid))
}

/// Whether these are the places that Placet has where nothing else is said.
pub fn is_the_persons_own(places: &Places) -> bool {
    let own = Places::new(&Flags::default());
    places.is_default_data() && own.is_ok_and(|own| own.config == places.config && own.socket == places.socket)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn quiet(from: &str, to: &str) -> Quiet {
        Quiet { on: true, from: from.parse().unwrap(), to: to.parse().unwrap() }
    }

    fn at(when: &str) -> At {
        At(when.parse::<Timestamp>().unwrap().as_millisecond())
    }

    fn changed(before: &str, change: serde_json::Value) -> Result<String, ChangeError> {
        let folder = tempfile::tempdir().unwrap();
        if !before.is_empty() {
            fs::write(folder.path().join(FILE), before).unwrap();
        }
        super::change(folder.path(), &serde_json::from_value(change).unwrap())?;
        Ok(fs::read_to_string(folder.path().join(FILE)).unwrap_or_default())
    }

    #[test]
    fn quiet_hours_go_over_midnight_and_end_to_the_minute() {
        let utc = TimeZone::UTC;
        for (hours, when, covered) in [
            (quiet("22:00", "07:00"), "2026-03-01T21:59:59.999Z", false),
            (quiet("22:00", "07:00"), "2026-03-01T22:00:00Z", true),
            (quiet("22:00", "07:00"), "2026-03-02T00:00:00Z", true),
            (quiet("22:00", "07:00"), "2026-03-02T06:59:59.999Z", true),
            (quiet("22:00", "07:00"), "2026-03-02T07:00:00Z", false),
            (quiet("12:30", "13:15"), "2026-03-02T12:29:59Z", false),
            (quiet("12:30", "13:15"), "2026-03-02T12:30:00Z", true),
            (quiet("12:30", "13:15"), "2026-03-02T13:15:00Z", false),
            (quiet("00:00", "23:59"), "2026-03-02T23:59:00Z", false),
            (Quiet { on: false, ..quiet("00:00", "23:59") }, "2026-03-02T12:00:00Z", false),
        ] {
            assert_eq!(hours.covers(at(when), &utc), covered, "{hours:?} at {when}");
        }
    }

    #[test]
    fn quiet_hours_are_those_of_the_clock_on_the_wall_wherever_the_person_goes() {
        let hours = quiet("22:00", "07:00");
        let zone = |name| TimeZone::get(name).unwrap();
        let late = at("2026-01-15T21:30:00Z");
        assert!(hours.covers(late, &zone("Europe/Vienna")), "22:30 there");
        assert!(!hours.covers(late, &zone("America/New_York")), "16:30 there");
        assert!(hours.covers(late, &zone("Asia/Tokyo")), "06:30 there");
        // The hour that summer time leaves out, and the hour that its end repeats.
        let night = quiet("02:15", "02:45");
        let vienna = zone("Europe/Vienna");
        let within: Vec<i64> =
            (0..180).filter(|m| night.covers(at("2026-03-29T00:00:00Z").plus_ms(m * 60_000), &vienna)).collect();
        assert_eq!(within, [0_i64; 0], "there is no quarter past two in this night");
        let within = (0..180).filter(|m| night.covers(at("2026-10-25T00:00:00Z").plus_ms(m * 60_000), &vienna)).count();
        assert_eq!(within, 60, "and in this one there are two");
    }

    #[test]
    fn a_time_of_day_is_four_digits() {
        for wrong in ["", "7:00", "24:00", "12:60", "12.30", "noon", "12:30 ", "-1:30"] {
            assert!(wrong.parse::<TimeOfDay>().is_err(), "{wrong:?}");
        }
        assert_eq!("07:05".parse::<TimeOfDay>().unwrap().to_string(), "07:05");
    }

    #[test]
    fn a_change_leaves_all_else_as_it_stands() {
        let before = "# mine\nwhen_no_gate = 'deny' # for now\n\n[history] # kept\nkeep_days = 30\n";
        let after =
            changed(before, json!({"notifications": {"sound": true, "quiet": {"on": true, "from": "21:00"}}})).unwrap();
        assert!(after.starts_with(before), "{after}");
        let settings = Settings::parse(&after).unwrap();
        assert!(settings.notifications.sound && settings.notifications.quiet.on);
        assert_eq!(settings.notifications.quiet.from.to_string(), "21:00");
        assert_eq!(settings.notifications.quiet.to.to_string(), "07:00");
        let after = changed(before, json!({"when_no_gate": "client"})).unwrap();
        assert_eq!(after, before.replace("'deny'", "\"client\""));
        assert_eq!(changed(before, json!({})).unwrap(), before);
        let inline = "notifications = { quiet = { on = true } }\n";
        let after =
            Settings::parse(&changed(inline, json!({"notifications": {"quiet": {"to": "06:00"}}})).unwrap()).unwrap();
        assert!(after.notifications.quiet.on);
        assert_eq!(after.notifications.quiet.to.to_string(), "06:00");
    }

    #[test]
    fn what_cannot_be_and_what_is_not_understood_changes_nothing() {
        for (before, change) in [
            ("", json!({"notifications": {"gather_over": 0}})),
            ("", json!({"notifications": {"gather_over": 101}})),
            ("", json!({"notifications": {"quiet": {"from": "07:00"}}})),
        ] {
            assert!(matches!(changed(before, change.clone()), Err(ChangeError::Wrong(_))), "{change}");
        }
        for broken in ["when_no_gate = \"yes\"", "[notifications", "notifications = 3", "[notifications]\non = 1"] {
            assert!(matches!(changed(broken, json!({"when_no_gate": "deny"})), Err(ChangeError::Unreadable(_))));
            assert!(Settings::parse(broken).is_err(), "{broken}");
        }
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
    }

    #[test]
    fn other_places_than_the_persons_own_start_nothing_unless_it_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let flags =
            Flags { data_dir: Some(folder.path().join("d")), config_dir: Some(folder.path().to_owned()), socket: None };
        let places = Places::new(&flags).unwrap();
        assert!(!is_the_persons_own(&places));
        assert_eq!(when_no_gate(&places), WhenNoGate::Deny);
        for (said, then) in [
            ("", WhenNoGate::Deny),
            ("when_no_gate = \"start\"\nother = 1", WhenNoGate::Start),
            ("when_no_gate = \"client\"", WhenNoGate::Client),
            ("when_no_gate = \"deny\"", WhenNoGate::Deny),
            ("when_no_gate = \"yes\"", WhenNoGate::Deny),
            ("when_no_gate = 1", WhenNoGate::Deny),
            ("when_no_gate", WhenNoGate::Deny),
        ] {
            fs::write(folder.path().join(FILE), said).unwrap();
            assert_eq!(when_no_gate(&places), then, "{said}");
        }
    }

    #[test]
    fn the_persons_own_gate_is_started() {
        let mut own = Places::new(&Flags::default()).unwrap();
        assert!(is_the_persons_own(&own));
        own.socket = "/elsewhere/gate.sock".into();
        assert!(!is_the_persons_own(&own));
    }
}
