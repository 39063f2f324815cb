defmodule Server.PingPong do
  @moduledoc "A worker that answers each message in its mailbox with the payload."

  use GenServer

  alias Server.Payload

  def start_link(_options), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @spec ask() :: binary()
  def ask, do: GenServer.call(__MODULE__, :ping)

  @impl true
  def init(nil), do: {:ok, nil}

  @impl true
  def handle_call(:ping, _from, state), do: {:reply, Payload.bytes(), state}
end
