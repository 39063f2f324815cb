//! Products that are computed, compressed for clients that accept it.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, VARY};
use serde::Serialize;

use crate::{
    error::Error,
    respond::{self, Answer},
};

const COUNT: u32 = 100;
const MAX_FROM: u32 = 1_000_000;
const CATEGORIES: [&str; 5] = ["books", "garden", "kitchen", "music", "tools"];

#[derive(Serialize)]
struct Product {
    id: u32,
    name: String,
    category: &'static str,
    price: u32,
    stock: u32,
}

impl Product {
    fn new(id: u32) -> Self {
        Self {
            id,
            name: format!("Product {id}"),
            category: CATEGORIES[id as usize % CATEGORIES.len()],
            price: id * 37 % 10_007,
            stock: id * 31 % 101,
        }
    }
}

pub fn list(query: Option<&str>, headers: &HeaderMap) -> Result<Answer, Error> {
    let from = from(query.unwrap_or_default()).ok_or(Error::From { max: MAX_FROM })?;
    let products: Vec<Product> = (from..from + COUNT).map(Product::new).collect();
    let json = serde_json::to_vec(&products)?;
    let mut answer = if accepts_gzip(headers) {
        let mut answer = respond::json_text(gzip(&json)?);
        let gzip = HeaderValue::from_static("gzip");
        answer.headers_mut().insert(CONTENT_ENCODING, gzip);
        answer
    } else {
        respond::json_text(json)
    };
    let depends = HeaderValue::from_static("accept-encoding");
    answer.headers_mut().insert(VARY, depends);
    Ok(answer)
}

fn from(query: &str) -> Option<u32> {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let (_, from) = parameters.find(|(name, _)| name == "from")?;
    let from = from.parse().ok()?;
    (1..=MAX_FROM).contains(&from).then_some(from)
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).map_err(Error::Compress)?;
    encoder.finish().map_err(Error::Compress)
}

/// Whether gzip is among the codings, with another weight than 0 (RFC 9110, section 12.5.3).
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(ACCEPT_ENCODING).iter();
    let lists = lists.filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map(str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip") && weight != Some(Ok(0.0))
    })
}
