//! One module for each kind of work.

mod body;
mod fortunes;
mod greetings;
pub mod hash;
mod items;
mod payload;
mod products;
mod proxy;
mod upload;
mod users;

use actix_web::{
    http::header::VARY,
    middleware::{Compress, DefaultHeaders},
    web::{ServiceConfig, resource},
};

pub fn configure(app: &mut ServiceConfig) {
    app.service(resource("/plaintext").get(greetings::plaintext))
        .service(
            resource("/json")
                .get(greetings::encode)
                .post(greetings::decode),
        )
        .service(
            resource("/products")
                .wrap(Compress::default())
                // `Compress` says so of compressed answers alone.
                .wrap(DefaultHeaders::new().add((VARY, "accept-encoding")))
                .get(products::list),
        )
        .service(resource("/upload").post(upload::digest))
        .service(resource("/payload").get(payload::direct))
        .service(resource("/ping-pong").get(payload::handed_over))
        .service(resource("/bytes").get(hash::bytes))
        .service(resource("/users").get(users::list))
        .service(resource("/fortunes").get(fortunes::list))
        .service(resource("/items").get(items::list).post(items::create))
        .service(
            resource("/items/{id}")
                .get(items::read)
                .put(items::replace)
                .delete(items::delete),
        )
        .service(resource("/proxy").get(proxy::relay));
}
