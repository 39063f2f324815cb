defmodule Server.Handlers.Fortunes do
  @moduledoc "GET /fortunes"

  @behaviour :cowboy_handler

  alias Server.{Database, Pages, Respond}

  @additional %{id: 0, message: "Additional fortune added at request time."}

  @impl true
  def init(req, state) do
    fortunes = Enum.sort_by([@additional | Database.all_fortunes()], & &1.message)
    {:ok, Respond.html(req, Pages.fortunes(fortunes)), state}
  end
end
