defmodule ServerWeb.PlaintextController do
  use ServerWeb, :controller

  def show(conn, _params), do: text(conn, "Hello, World!")
end
