defmodule Server.Handlers.Payload do
  @moduledoc "GET /payload"

  @behaviour :cowboy_handler

  alias Server.{Payload, Respond}

  @impl true
  def init(req, state) do
    {:ok, Respond.bytes(req, Payload.content_type(), Payload.bytes()), state}
  end
end
