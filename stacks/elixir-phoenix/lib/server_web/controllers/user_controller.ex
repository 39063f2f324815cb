defmodule ServerWeb.UserController do
  use ServerWeb, :controller

  alias Server.Accounts

  def index(conn, _params), do: render(conn, :index, users: Accounts.list_first_users())
end
