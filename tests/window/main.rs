//! The real window under Xvfb.
