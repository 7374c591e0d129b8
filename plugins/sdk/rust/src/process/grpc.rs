//! gRPC on hyper: each message is prefixed with its length, and the trailers have a status.
//! The protocol has one streaming method and no metadata, so nothing more is needed.

use super::session::{Item, Session};
use super::{lock, vital_task, Plugin};
use crate::service::{Answer, Failure, Service, FAILED_PRECONDITION, INVALID_ARGUMENT, UNIMPLEMENTED};
use crate::wire::{write_said, Writer};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{HeaderMap, HeaderValue, CONTENT_TYPE};
use hyper::{Request, Response};
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The maximum size of a received message: a snapshot of 16 MiB and its frame.
const MAX_MESSAGE: usize = 17 << 20;

const RESOURCE_EXHAUSTED: u8 = 8;

/// Answers one call.
pub async fn handle(plugin: Arc<Plugin>, request: Request<Incoming>) -> Result<Response<Frames>, Infallible> {
    let method = request.uri().path().to_string();
    let mut messages = Messages { body: request.into_body(), buffer: Vec::new() };
    let (frames, body) = mpsc::channel(2); // a unary answer has two frames; both must fit here
    match method.as_str() {
        "/tunehost.v1.TrainableService/Train" => {
            vital_task(train(plugin, messages, frames));
        }
        "/plugin.GRPCController/Shutdown" => {
            plugin.shutdown();
            answer(&frames, Ok(Vec::new())).await;
        }
        _ => {
            let result = match messages.next().await {
                Ok(Some(request)) => plugin.call(method, request).await,
                Ok(None) => Err(Failure::new(INVALID_ARGUMENT, "the call has no message")),
                Err(e) => Err(e),
            };
            answer(&frames, result).await;
        }
    }
    let mut response = Response::new(Frames(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    Ok(response)
}

/// The response body: data, and the trailers at the end.
pub struct Frames(mpsc::Receiver<Frame<Bytes>>);

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|frame| frame.map(Ok))
    }
}

type Sink = mpsc::Sender<Frame<Bytes>>;

/// Sends the message of an answer, if there is one, and the status. If the connection is
/// closed, it does nothing.
async fn answer(frames: &Sink, answer: Answer) {
    let status = match answer {
        Ok(message) => frames.send(data(&message)).await.map_or(Ok(()), Ok),
        Err(e) => Err(e),
    };
    let _ = frames.send(trailers(status)).await;
}

fn data(message: &[u8]) -> Frame<Bytes> {
    let length = (message.len() as u32).to_be_bytes();
    Frame::data(Bytes::from([&[0], &length[..], message].concat()))
}

fn trailers(status: Result<(), Failure>) -> Frame<Bytes> {
    let mut headers = HeaderMap::new();
    let code = status.as_ref().map_or_else(|e| e.code, |()| 0);
    headers.insert("grpc-status", HeaderValue::from(u16::from(code)));
    if let Err(Ok(why)) = status.map_err(|e| HeaderValue::from_str(&percent(&e.why))) {
        headers.insert("grpc-message", why);
    }
    Frame::trailers(headers)
}

/// Encodes a text for a gRPC header and cuts it to the size that hosts accept.
fn percent(text: &str) -> String {
    let mut out = String::new();
    for b in text.bytes().take(2048) {
        match b {
            b'%' | 0..=0x1f | 0x7f.. => out.push_str(&format!("%{:02X}", b)),
            _ => out.push(char::from(b)),
        }
    }
    out
}

/// The messages of a call.
struct Messages {
    body: Incoming,
    buffer: Vec<u8>,
}

impl Messages {
    /// The next message; None at the end, or if the connection is lost.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            if let Some(message) = self.whole()? {
                return Ok(Some(message));
            }
            let frame = poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx)).await;
            match frame.transpose() {
                Ok(Some(frame)) => self.buffer.extend(frame.into_data().unwrap_or_default()),
                Ok(None) | Err(_) => return Ok(None),
            }
        }
    }

    /// Takes a message from the buffer if it is complete.
    fn whole(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let length = match self.buffer[..] {
            [0, a, b, c, d, ..] => u32::from_be_bytes([a, b, c, d]) as usize,
            [1..=255, ..] => return Err(Failure::new(UNIMPLEMENTED, "messages must not be compressed")),
            _ => return Ok(None),
        };
        if length > MAX_MESSAGE {
            return Err(Failure::new(
                RESOURCE_EXHAUSTED,
                format!("a message of {} bytes is too large", length),
            ));
        }
        if self.buffer.len() < 5 + length {
            return Ok(None);
        }
        let rest = self.buffer.split_off(5 + length);
        let message = std::mem::replace(&mut self.buffer, rest);
        Ok(Some(message[5..].to_vec()))
    }
}

/// Serves the stream of a trainable: another task reads commands; this one writes all waiting
/// events in one message.
async fn train(plugin: Arc<Plugin>, messages: Messages, frames: Sink) {
    let (out, mut said) = mpsc::channel(MAX_WAITING);
    let session = match begin(&plugin, out) {
        Ok(session) => session,
        Err(e) => return answer(&frames, Err(e)).await,
    };
    vital_task(read(session.clone(), messages));
    let mut items = Vec::new();
    let mut status = None;
    while status.is_none() && said.recv_many(&mut items, MAX_WAITING).await > 0 {
        for message in batches(&items) {
            if frames.send(data(&message)).await.is_err() {
                return session.close();
            }
        }
        status = items.drain(..).find_map(|item| match item {
            Item::End(status) => Some(status),
            Item::Said(..) => None,
        });
    }
    let _ = frames.send(trailers(status.unwrap_or(Ok(())))).await;
}

/// The maximum number of queued events; beyond it, runs wait.
const MAX_WAITING: usize = 8192;

/// Creates the only session of the process.
fn begin(plugin: &Plugin, out: mpsc::Sender<Item>) -> Result<Arc<Session>, Failure> {
    let opened = match &*lock(&plugin.service) {
        Service::Trainable(t) => t.opened()?,
        _ => return Err(Failure::new(UNIMPLEMENTED, "this is no trainable")),
    };
    let mut session = lock(&plugin.session);
    if session.is_some() {
        let had = "a process has one Train stream, and it was used already";
        return Err(Failure::new(FAILED_PRECONDITION, had));
    }
    Ok(session.insert(Session::new(opened, out)).clone())
}

/// Executes the host's commands until the host closes its side.
async fn read(session: Arc<Session>, mut messages: Messages) {
    let status = loop {
        match messages.next().await {
            Ok(None) => break Ok(()),
            Ok(Some(message)) => {
                if let Err(why) = session.order(&message) {
                    break Err(Failure::new(INVALID_ARGUMENT, why));
                }
            }
            Err(e) => break Err(e),
        }
    };
    session.close();
    session.end(status).await;
}

/// Splits events into messages well below the host's size limit.
fn batches(items: &[Item]) -> Vec<Vec<u8>> {
    const ENOUGH: usize = 512 << 10;
    let mut messages = Vec::new();
    let mut w = Writer::default();
    for item in items {
        if let Item::Said(run, said) = item {
            write_said(&mut w, *run, said);
        }
        if w.len() > ENOUGH {
            messages.push(std::mem::take(&mut w).finish());
        }
    }
    if w.len() > 0 {
        messages.push(w.finish());
    }
    messages
}
