# frozen_string_literal: true

require_relative "capacity"

host = ENV.fetch("HOST", "127.0.0.1")
bind "tcp://#{host}:#{ENV.fetch("PORT", 8080)}"
if ENV["TLS_PORT"]
  ssl_bind host, ENV["TLS_PORT"], cert: ENV["TLS_CERT"], key: ENV["TLS_KEY"], verify_mode: "none"
end
environment ENV.fetch("RAILS_ENV", "production")

# 0 is Puma's single mode: no process but this one.
workers Capacity.processes > 1 ? Capacity.processes : 0
preload_app!

# Idle connections wait in Puma's reactor and hold no thread.
threads Capacity.threads, Capacity.threads

# Puma's default is to close a connection after 999 requests, to share processes out among clients more evenly.
max_keep_alive Float::INFINITY

# How long requests have after SIGTERM; idle connections are closed at once.
force_shutdown_after 0.7
