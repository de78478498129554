//! A client that writes and reads lines, and tools for it to call.

use crate::gate::{Gate, GateOptions, Settings, SystemClock};
use crate::store::MemoryStore;
use crate::tool::{Outcome, Plan, ToolError};
use crate::transport::mcp::serve;
use crate::{Error, Host, Level, NativeTool, Owner};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// How long a test waits for what must come.
const SOON: Duration = Duration::from_secs(10);

/// A client at the other end of two pipes.
pub(super) struct Client {
    pub(super) input: Option<DuplexStream>,
    pub(super) output: Lines<BufReader<DuplexStream>>,
    pub(super) served: JoinHandle<Result<(), Error>>,
}

impl Client {
    pub(super) fn start(host: Host) -> Self {
        Self::of("test", host)
    }

    /// A client whose calls are this owner's.
    pub(super) fn of(owner: &str, host: Host) -> Self {
        let (input, server_in) = tokio::io::duplex(1 << 16);
        let (server_out, output) = tokio::io::duplex(1 << 16);
        let owner = Owner::new("name", owner).unwrap();
        let served = tokio::spawn(serve(host, owner, server_in, server_out));
        Self { input: Some(input), output: BufReader::new(output).lines(), served }
    }

    pub(super) async fn send(&mut self, line: impl AsRef<[u8]>) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_ref()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
    }

    pub(super) async fn line(&mut self) -> String {
        tokio::time::timeout(SOON, self.output.next_line()).await.expect("an answer in time").unwrap().expect("a line")
    }

    pub(super) async fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// Sends a request under this id and returns its answer.
    pub(super) async fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
        let answer = self.answer().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(super) async fn call(&mut self, id: i64, tool: &str, arguments: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": arguments})).await
    }

    /// Closes the input and waits for the end; returns the lines that were still to come.
    pub(super) async fn end(mut self) -> Vec<String> {
        self.input = None;
        let mut rest = Vec::new();
        while let Some(line) = tokio::time::timeout(SOON, self.output.next_line()).await.expect("an end").unwrap() {
            rest.push(line);
        }
        tokio::time::timeout(SOON, self.served).await.expect("an end in time").unwrap().unwrap();
        rest
    }
}

/// What the tools do to the world.
pub(super) struct World {
    pub(super) effects: AtomicU32,
    /// Runs and previews that have begun, and those that came to an end of any kind.
    pub(super) begun: AtomicU32,
    pub(super) ended: AtomicU32,
    /// Held runs wait here.
    pub(super) held: Semaphore,
}

impl World {
    pub(super) async fn until(&self, what: &AtomicU32, count: u32) {
        let reached = async {
            while what.load(SeqCst) < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(SOON, reached).await.expect("in time");
    }

    /// Counts an end, also when what runs is dropped.
    fn begin(self: &Arc<Self>) -> impl Drop + Send + use<> {
        struct Ended(Arc<World>);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.ended.fetch_add(1, SeqCst);
            }
        }
        self.begun.fetch_add(1, SeqCst);
        Ended(Arc::clone(self))
    }
}

/// `exact` returns what a parser would spoil, `steps` reports its progress, `slow` never ends; `wipe` has one effect when
/// it is confirmed, and with `held` only when the world lets it.
pub(super) async fn world() -> (Host, Arc<World>) {
    world_with(Settings::default()).await
}

/// The same, with a gate of other settings.
pub(super) async fn world_with(settings: Settings) -> (Host, Arc<World>) {
    let world = Arc::new(World {
        effects: AtomicU32::new(0),
        begun: AtomicU32::new(0),
        ended: AtomicU32::new(0),
        held: Semaphore::new(0),
    });
    let options =
        GateOptions { store: Arc::new(MemoryStore::new()), clock: Arc::new(SystemClock), settings, cache: None };
    let any = r#"{"type":"object"}"#;
    let exact = NativeTool::new("exact", Level::Safe, any, "1")
        .title("Exact")
        .execute(|_, _| async { Ok(Outcome::new("done", r#"{"z":9007199254740993,"a":1.10,"é":"\"\n"}"#)) });
    let steps = NativeTool::new("steps", Level::Caution, any, "1").execute(|_, context| async move {
        for step in 0..10 {
            context.report(Some(f64::from(step) / 10.0), "step");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Outcome::new("done", "{}"))
    });
    let seen = Arc::clone(&world);
    let slow =
        NativeTool::new("slow", Level::Review, any, "1").deadline(Duration::from_secs(3600)).execute(move |_, _| {
            let ended = seen.begin();
            async move {
                let _ended = ended;
                std::future::pending::<Result<Outcome, ToolError>>().await
            }
        });
    let (seen, previewed) = (Arc::clone(&world), Arc::clone(&world));
    let wipe = NativeTool::new("wipe", Level::ApprovalRequired, any, "1")
        .output_schema(r#"{"type":"object","properties":{"effects":{"type":"integer"}},"required":["effects"]}"#)
        .preview_deadline(Duration::from_secs(3600))
        .preview(move |arguments| {
            let ended = previewed.begin();
            async move {
                let _ended = ended;
                if arguments.contains("stuck") {
                    std::future::pending::<()>().await;
                }
                Ok(Plan::new("Will wipe everything.", arguments))
            }
        })
        .execute(move |arguments, _| {
            let (world, ended) = (Arc::clone(&seen), seen.begin());
            async move {
                let _ended = ended;
                if arguments.contains("held") {
                    world.held.acquire().await.unwrap().forget();
                }
                if arguments.contains("fail") {
                    return Err(ToolError::Failed {
                        message: "it is locked".into(),
                        effect: crate::tool::Effect::None,
                    });
                }
                let effects = world.effects.fetch_add(1, SeqCst) + 1;
                Ok(Outcome::new("wiped", json!({"effects": effects}).to_string()))
            }
        });
    let host = Host::builder(Gate::new(options).unwrap()).native(exact).native(steps).native(slow).native(wipe);
    (host.build().await.unwrap(), world)
}

pub(super) async fn host() -> Host {
    world().await.0
}
