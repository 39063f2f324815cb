//! Products that are computed.

use actix_web::web::{Json, Query};
use serde::{Deserialize, Serialize};

use crate::error::Error;

const COUNT: u32 = 100;
const MAX_FROM: u32 = 1_000_000;
const CATEGORIES: [&str; 5] = ["books", "garden", "kitchen", "music", "tools"];

#[derive(Serialize)]
pub struct Product {
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

#[derive(Deserialize)]
pub struct Params {
    from: u32,
}

pub async fn list(Query(Params { from }): Query<Params>) -> Result<Json<Vec<Product>>, Error> {
    if !(1..=MAX_FROM).contains(&from) {
        return Err(Error::From { max: MAX_FROM });
    }
    Ok(Json((from..from + COUNT).map(Product::new).collect()))
}
