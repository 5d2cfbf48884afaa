//! Work that takes long, one at a time, and that the person can stop.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// Whose turn it is.
#[derive(Default)]
pub(crate) struct Turns {
    under_way: Mutex<Option<Stop>>,
}

/// Whether the person said stop.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// The turn of the one there is; it ends however the work does.
pub(crate) struct Turn<'a> {
    of: &'a Turns,
    pub(crate) stop: Stop,
}

impl Turns {
    /// None while another has it.
    pub(crate) fn begin(&self) -> Option<Turn<'_>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.is_some() {
            return None;
        }
        let stop = Stop::default();
        *under_way = Some(stop.clone());
        Some(Turn { of: self, stop })
    }

    /// Stops the one that is under way, if there is one.
    pub(crate) fn stop(&self) {
        if let Some(stop) = &*self.under_way.lock().unwrap_or_else(PoisonError::into_inner) {
            stop.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Stop {
    /// Whether to go on.
    pub(crate) fn asked(&self) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.of.under_way.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_at_a_time_and_stop_is_for_that_one_alone() {
        let turns = Turns::default();
        turns.stop();
        let first = turns.begin();
        assert!(first.as_ref().is_some_and(|turn| turn.stop.asked().is_continue()) && turns.begin().is_none());
        turns.stop();
        assert!(first.as_ref().is_some_and(|turn| turn.stop.asked().is_break()));
        drop(first);
        assert!(turns.begin().is_some_and(|turn| turn.stop.asked().is_continue()));
    }
}
