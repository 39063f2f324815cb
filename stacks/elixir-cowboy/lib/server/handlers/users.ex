defmodule Server.Handlers.Users do
  @moduledoc "GET /users"

  @behaviour :cowboy_handler

  alias Server.{Database, Respond}

  @impl true
  def init(req, state), do: {:ok, Respond.json(req, Database.first_users()), state}
end
