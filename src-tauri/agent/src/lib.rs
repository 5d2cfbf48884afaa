//! Who acts: Placet's own agent. A turn machine that only thinks, a driver that acts, hooks on the way, tools that
//! take nothing but a cleared call, and providers to talk to.
//!
//! Nothing here decides what may run: every call walks the gate's corridor like any other agent's.

mod bus;
mod calls;
pub mod config;
mod context;
mod corridor;
pub mod demo;
pub mod hooks;
pub mod journal;
mod machine;
pub mod mcp;
pub mod message;
pub mod order;
pub mod provider;
mod run;
mod runs;
mod stop;
mod sub_agent;
mod summary;
pub mod tools;

pub use bus::{Bus, Followed, Told, Watched};
pub use context::Context;
pub use corridor::Corridor;
pub use machine::{Budget, Effect, Ending, Event, Machine, Point};
pub use order::{Order, StartError};
pub use run::{Options, RunError, resume, run};
pub use runs::Runs;
pub use stop::Stop;
pub use sub_agent::SUB_AGENT;
pub use summary::{Summary, Tally};

/// What an asynchronous method of a trait object gives back.
pub type Later<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
