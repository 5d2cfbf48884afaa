//! The tests that cross rooms.
