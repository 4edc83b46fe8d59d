//! `rest FILE TOKEN`: the latest aggregates with axum on one thread of tokio. FILE is the service's answer with all assets. The JSON
//! of each aggregate is kept as it came; an answer joins those that are asked for.
use axum::extract::{Query, State};
use axum::http::{header, HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{routing::get, Router};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{collections::HashMap, fs, sync::Arc};
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct Answer {
    data: HashMap<String, Box<RawValue>>,
}

#[derive(Deserialize)]
struct Wanted {
    assets: String,
}

struct Prices {
    authorization: String,
    by_symbol: HashMap<String, Box<RawValue>>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("no file")?;
    let authorization = format!("Basic {}", args.next().ok_or("no token")?);
    let Answer { data } = serde_json::from_slice(&fs::read(file)?)?;
    let prices = Prices {
        authorization,
        by_symbol: data,
    };
    let app = Router::new()
        .route("/v1/prices/latest", get(latest))
        .with_state(Arc::new(prices));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{{\"port\":{}}}", listener.local_addr()?.port());
    axum::serve(listener, app).await?;
    Ok(())
}

async fn latest(
    State(prices): State<Arc<Prices>>,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Response {
    let authorization = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
    if authorization != Some(prices.authorization.as_bytes()) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let mut body = String::from("{\"data\":{");
    for (i, symbol) in wanted.assets.split(',').enumerate() {
        let Some(aggregate) = prices.by_symbol.get(symbol) else {
            return StatusCode::BAD_REQUEST.into_response();
        };
        body.push_str(if i == 0 { "\"" } else { ",\"" });
        body.push_str(symbol);
        body.push_str("\":");
        body.push_str(aggregate.get());
    }
    body.push_str("}}");
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
