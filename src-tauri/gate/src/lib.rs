//! Room `gate`.
