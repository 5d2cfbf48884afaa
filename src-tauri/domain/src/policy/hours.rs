//! `days`, `between` and `zone`: when a rule is in force. The time zones are those built in, so that the same policy
//! says the same on every machine.

use jiff::{Timestamp, civil::Weekday, tz::TimeZone, tz::TimeZoneDatabase};

use crate::At;

/// A day of the week, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// Days, hours and the zone they are meant in.
#[derive(Debug)]
pub(super) struct Hours {
    pub(super) days: Option<Vec<Day>>,
    /// Minutes of the day: from the first, up to but without the second. May cross midnight.
    pub(super) between: Option<(u16, u16)>,
    pub(super) zone: TimeZone,
}

/// A moment as a clock on the wall shows it.
pub(super) struct Local {
    pub(super) at_ms: i64,
    pub(super) day: Day,
    pub(super) minute_of_day: u16,
    pub(super) date: String,
}

impl Day {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Mon => "mon",
            Self::Tue => "tue",
            Self::Wed => "wed",
            Self::Thu => "thu",
            Self::Fri => "fri",
            Self::Sat => "sat",
            Self::Sun => "sun",
        }
    }

    fn before(self) -> Self {
        match self {
            Self::Mon => Self::Sun,
            Self::Tue => Self::Mon,
            Self::Wed => Self::Tue,
            Self::Thu => Self::Wed,
            Self::Fri => Self::Thu,
            Self::Sat => Self::Fri,
            Self::Sun => Self::Sat,
        }
    }
}

impl Hours {
    /// Whether they include this moment. Hours that cross midnight belong to the day on which they begin.
    pub(super) fn include(&self, now: At) -> bool {
        let local = self.local(now);
        let on = |day: Day| self.days.as_ref().is_none_or(|days| days.contains(&day));
        match self.between {
            None => on(local.day),
            Some((from, to)) if from < to => on(local.day) && (from..to).contains(&local.minute_of_day),
            Some((from, to)) => {
                (local.minute_of_day >= from && on(local.day)) || (local.minute_of_day < to && on(local.day.before()))
            }
        }
    }

    pub(super) fn local(&self, now: At) -> Local {
        let zoned = Timestamp::from_millisecond(now.0).unwrap_or_default().to_zoned(self.zone.clone());
        let minute = i32::from(zoned.hour()) * 60 + i32::from(zoned.minute());
        Local {
            at_ms: now.0,
            day: match zoned.weekday() {
                Weekday::Monday => Day::Mon,
                Weekday::Tuesday => Day::Tue,
                Weekday::Wednesday => Day::Wed,
                Weekday::Thursday => Day::Thu,
                Weekday::Friday => Day::Fri,
                Weekday::Saturday => Day::Sat,
                Weekday::Sunday => Day::Sun,
            },
            minute_of_day: u16::try_from(minute).unwrap_or_default(),
            date: zoned.date().to_string(),
        }
    }
}

/// A zone by its IANA name.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name).ok()
}

/// `02:00-04:00` in minutes of the day; `24:00` may be the end.
pub(super) fn between(text: &str) -> Option<(u16, u16)> {
    let minute = |text: &str| -> Option<u16> {
        let (hour, minute) = text.trim().split_once(':')?;
        let two = |digits: &str| (digits.len() == 2).then(|| digits.parse::<u16>().ok()).flatten();
        let (hour, minute) = (two(hour)?, two(minute)?);
        let of_day = hour * 60 + minute;
        (minute < 60 && of_day <= 24 * 60).then_some(of_day)
    };
    let (from, to) = text.split_once('-')?;
    let (from, to) = (minute(from)?, minute(to)?);
    (from != to && from < 24 * 60).then_some((from, to))
}
