# frozen_string_literal: true

require_relative "capacity"

bind "tcp://#{ENV.fetch("HOST", "127.0.0.1")}:#{ENV.fetch("PORT", 8080)}"
environment ENV.fetch("RAILS_ENV", "production")

# 0 is Puma's single mode: no process but this one.
workers Capacity.processes > 1 ? Capacity.processes : 0
preload_app!

# Threads come as requests do. Idle connections wait in Puma's reactor and hold none.
threads 5, Capacity.threads

# Puma's default is to close a connection after 999 requests, to share processes out among clients more evenly.
max_keep_alive Float::INFINITY

# How long requests have after SIGTERM; idle connections are closed at once.
force_shutdown_after 0.7

# Each thread builds its answers in a buffer of its own, as Puma's threads did before 6.0.1. Puma 8.0.2 keeps one with
# each connection and empties it (at the end of Server#process_client) after the connection has gone to the next
# thread: when that one has begun its answer, it loses the status line and the headers written so far.
Puma::Client.prepend(Module.new do
  def io_buffer
    thread = Thread.current
    thread.thread_variable_get(:io_buffer) || thread.thread_variable_set(:io_buffer, Puma::IOBuffer.new)
  end
end)
