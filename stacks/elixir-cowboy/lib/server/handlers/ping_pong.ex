defmodule Server.Handlers.PingPong do
  @moduledoc "GET /ping-pong"

  @behaviour :cowboy_handler

  alias Server.{Payload, PingPong, Respond}

  @impl true
  def init(req, state) do
    {:ok, Respond.bytes(req, Payload.content_type(), PingPong.ask()), state}
  end
end
