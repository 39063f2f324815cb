defmodule Server.Upstream do
  @moduledoc "A pool of kept connections to the upstream."

  alias Server.Upstream.Connection

  # A connection for each request under way. They are opened as they are needed, and the one that was used last is the
  # next one to be used.
  @connections 512
  @patience_ms 10_000

  @spec child_spec(String.t()) :: Supervisor.child_spec()
  def child_spec(url) do
    pool = [
      name: {:local, __MODULE__},
      worker_module: Connection,
      size: @connections,
      max_overflow: 0,
      strategy: :lifo
    ]

    :poolboy.child_spec(__MODULE__, pool, Connection.options(url))
  end

  @doc "Asks the upstream once."
  @spec get() :: Connection.answer()
  def get, do: :poolboy.transaction(__MODULE__, &Connection.get/1, @patience_ms)
end
