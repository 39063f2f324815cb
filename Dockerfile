# Deadheat as one static program: docs/containers.md says how to run it.
#   docker build -t deadheat .
FROM rust:1-slim-bookworm AS build
# ring has C and assembler in it.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends musl-tools \
 && rm -rf /var/lib/apt/lists/* \
 && rustup target add "$(uname -m)-unknown-linux-musl"
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package deadheat --target "$(uname -m)-unknown-linux-musl" \
 && install -D --strip "target/$(uname -m)-unknown-linux-musl/release/deadheat" /out/deadheat

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/deadheat /usr/local/bin/deadheat
# Sessions are written to ./results.
WORKDIR /work
RUN chown 1000:1000 /work
USER 1000:1000
ENTRYPOINT ["deadheat"]
CMD ["--help"]
