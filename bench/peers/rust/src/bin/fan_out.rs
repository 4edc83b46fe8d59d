//! `fan_out INTERVAL_MS FRAME`: sends one frame to every connection at an interval, with fastwebsockets on one thread of tokio.
//! Each connection's first message is sent back to it.
use fastwebsockets::upgrade::{is_upgrade_request, upgrade, UpgradeFut};
use fastwebsockets::{Frame, OpCode, Payload, Role, WebSocket, WebSocketError, WebSocketWrite};
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::{server::conn::http1, service::service_fn, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::{cell::RefCell, rc::Rc, time::Duration};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{spawn_local, LocalSet};
use tokio::time::{interval, MissedTickBehavior};

type Error = Box<dyn std::error::Error>;
type Writer = WebSocketWrite<OwnedWriteHalf>;
/// The connections that wait for the first tick after their subscription.
type Newcomers = Rc<RefCell<Vec<Writer>>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let interval_ms = args.next().ok_or("no interval")?.parse()?;
    let frame = args.next().ok_or("no frame")?;
    LocalSet::new().run_until(serve(interval_ms, frame)).await
}

async fn serve(interval_ms: u64, frame: String) -> Result<(), Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{{\"port\":{}}}", listener.local_addr()?.port());
    let newcomers = Newcomers::default();
    spawn_local(send_frames(interval_ms, frame, newcomers.clone()));
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let newcomers = newcomers.clone();
        let service = service_fn(move |request| answer(request, newcomers.clone()));
        spawn_local(
            http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades(),
        );
    }
}

async fn answer(
    mut request: Request<Incoming>,
    newcomers: Newcomers,
) -> Result<Response<Empty<Bytes>>, WebSocketError> {
    if !is_upgrade_request(&request) {
        let mut refusal = Response::new(Empty::new());
        *refusal.status_mut() = StatusCode::UPGRADE_REQUIRED;
        return Ok(refusal);
    }
    let (response, upgraded) = upgrade(&mut request)?;
    spawn_local(async move {
        // A connection that ends is found by its next write.
        let _ = read(upgraded, newcomers).await;
    });
    Ok(response)
}

/// Sends the first message back and reads on to the end.
async fn read(upgraded: UpgradeFut, newcomers: Newcomers) -> Result<(), Error> {
    let upgraded = upgraded.await?.into_inner().into_inner();
    let parts = upgraded
        .downcast::<TokioIo<TcpStream>>()
        .map_err(|_| "not a TCP stream")?;
    let socket = WebSocket::after_handshake(parts.io.into_inner(), Role::Server);
    let (mut reader, mut writer) = socket.split(TcpStream::into_split);
    let first = reader.read_frame(&mut no_reply).await?;
    writer.write_frame(Frame::text(first.payload)).await?;
    newcomers.borrow_mut().push(writer);
    while reader.read_frame(&mut no_reply).await?.opcode != OpCode::Close {}
    Ok(())
}

async fn no_reply(_frame: Frame<'_>) -> Result<(), WebSocketError> {
    Ok(())
}

async fn send_frames(interval_ms: u64, frame: String, newcomers: Newcomers) {
    let mut writers: Vec<Writer> = Vec::new();
    let mut ticks = interval(Duration::from_millis(interval_ms));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        writers.append(&mut newcomers.borrow_mut());
        let mut i = 0;
        while i < writers.len() {
            let text = Frame::text(Payload::Borrowed(frame.as_bytes()));
            if writers[i].write_frame(text).await.is_ok() {
                i += 1;
            } else {
                writers.swap_remove(i);
            }
        }
    }
}
