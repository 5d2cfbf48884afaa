//! What is told of, and when: the first calls one by one, a crowd as one. Pure: the time is handed in.

use std::{collections::VecDeque, time::Duration};

use placet_domain::{Action, ApprovalId};
use tokio::time::Instant;

/// Told of after so long, unless it is settled by then: what a grant answers at once is no news.
const SETTLES: Duration = Duration::from_millis(300);
/// What a crowd is counted in.
const WINDOW: Duration = Duration::from_secs(10);

/// A call that waits and was not told of yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fresh {
    pub(crate) approval: ApprovalId,
    pub(crate) agent: String,
    pub(crate) action: Action,
}

/// What has come and is not told of yet.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    fresh: Vec<Fresh>,
    /// When each of the last calls came, as far as the window reaches.
    came: VecDeque<Instant>,
    due: Option<Instant>,
    /// When a crowd was told of last.
    crowd: Option<Instant>,
}

impl Gathering {
    /// When to take what is there.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// A call waits. When more than `over` came within the window, the further ones are told of together at its end, and
    /// then once in so long.
    pub(crate) fn asked(&mut self, fresh: Fresh, over: usize, now: Instant) {
        while self.came.front().is_some_and(|came| now.duration_since(*came) >= WINDOW) {
            self.came.pop_front();
        }
        self.came.push_back(now);
        self.fresh.push(fresh);
        let since = self.crowd.filter(|told| now.duration_since(*told) < WINDOW).or(self.came.front().copied());
        let crowd = since.filter(|_| self.came.len() > over).map(|since| since + WINDOW);
        // Later ones do not put off what is due.
        self.due.get_or_insert((now + SETTLES).max(crowd.unwrap_or(now)));
    }

    /// A call does not wait any more.
    pub(crate) fn settled(&mut self, approval: ApprovalId) {
        self.fresh.retain(|fresh| fresh.approval != approval);
        if self.fresh.is_empty() {
            self.due = None;
        }
    }

    /// What there is to tell: each alone, or, where there are more than `over`, all as one.
    pub(crate) fn take(&mut self, over: usize) -> Vec<Vec<Fresh>> {
        let due = self.due.take();
        let fresh = std::mem::take(&mut self.fresh);
        if fresh.is_empty() {
            Vec::new()
        } else if fresh.len() > over || self.came.len() > over {
            self.crowd = due;
            vec![fresh]
        } else {
            fresh.into_iter().map(|one| vec![one]).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn fresh(number: u32) -> Fresh {
        let approval = format!("01890a5d-ac96-774b-bcce-{number:012x}").parse().unwrap();
        Fresh { approval, agent: "codex".to_owned(), action: Action::Read }
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Takes what is due until this moment: when, and how many each notification is about.
    fn told_until(gathering: &mut Gathering, start: Instant, until: Duration) -> Vec<(u128, Vec<usize>)> {
        let mut told = Vec::new();
        while let Some(due) = gathering.due().filter(|due| *due <= start + until) {
            let sizes = gathering.take(3).iter().map(Vec::len).collect();
            told.push((due.duration_since(start).as_millis(), sizes));
        }
        told
    }

    #[test]
    fn a_few_calls_are_told_of_one_by_one_and_soon() {
        let (start, mut gathering) = (Instant::now(), Gathering::default());
        assert_eq!(gathering.due(), None);
        gathering.asked(fresh(1), 3, start);
        assert_eq!(told_until(&mut gathering, start, ms(1_000)), [(300, vec![1])]);
        gathering.asked(fresh(2), 3, start + ms(2_000));
        gathering.asked(fresh(3), 3, start + ms(2_200));
        assert_eq!(told_until(&mut gathering, start, ms(5_000)), [(2_300, vec![1, 1])]);
    }

    #[test]
    fn a_crowd_is_told_of_once_at_the_end_of_ten_seconds() {
        let (start, mut gathering) = (Instant::now(), Gathering::default());
        for number in 0..3 {
            gathering.asked(fresh(number), 3, start);
        }
        assert_eq!(told_until(&mut gathering, start, ms(1_000)), [(300, vec![1, 1, 1])]);
        for number in 3..50 {
            gathering.asked(fresh(number), 3, start + ms(1_000 + u64::from(number)));
        }
        assert_eq!(told_until(&mut gathering, start, ms(20_000)), [(10_000, vec![47])]);
        // So are those that come at once.
        let later = start + ms(60_000);
        for number in 0..4 {
            gathering.asked(fresh(number), 3, later);
        }
        assert_eq!(told_until(&mut gathering, later, ms(1_000)), [(300, vec![4])]);
        let start = later;
        // Quiet again: the next one is told of by itself.
        gathering.asked(fresh(50), 3, start + ms(30_000));
        assert_eq!(told_until(&mut gathering, start, ms(40_000)), [(30_300, vec![1])]);
    }

    #[test]
    fn many_at_once_are_one_however_long_they_keep_coming() {
        let (start, mut gathering) = (Instant::now(), Gathering::default());
        let mut told = Vec::new();
        for number in 0..400 {
            let at = ms(100 * u64::from(number));
            gathering.asked(fresh(number), 3, start + at);
            told.extend(told_until(&mut gathering, start, at));
        }
        told.extend(told_until(&mut gathering, start, ms(100_000)));
        assert!(told.len() <= 6, "{told:?}");
        assert_eq!(told.iter().flat_map(|(_, sizes)| sizes).sum::<usize>(), 400);
    }

    #[test]
    fn what_is_settled_before_it_is_told_of_is_no_news() {
        let (start, mut gathering) = (Instant::now(), Gathering::default());
        gathering.asked(fresh(1), 3, start);
        gathering.asked(fresh(2), 3, start);
        gathering.settled(fresh(1).approval);
        assert_eq!(gathering.take(3), [[fresh(2)]]);
        gathering.asked(fresh(3), 3, start);
        gathering.settled(fresh(3).approval);
        assert_eq!(gathering.due(), None);
    }
}
