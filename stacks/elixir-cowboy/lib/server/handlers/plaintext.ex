defmodule Server.Handlers.Plaintext do
  @moduledoc "GET /plaintext"

  @behaviour :cowboy_handler

  alias Server.Respond

  @impl true
  def init(req, state), do: {:ok, Respond.text(req, "Hello, World!"), state}
end
