defmodule ServerWeb.FortuneController do
  use ServerWeb, :controller

  alias Server.Fortunes
  alias Server.Fortunes.Fortune

  def index(conn, _params) do
    additional = %Fortune{id: 0, message: "Additional fortune added at request time."}
    fortunes = Enum.sort_by([additional | Fortunes.list_fortunes()], & &1.message)
    render(conn, :index, fortunes: fortunes)
  end
end
