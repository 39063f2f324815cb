defmodule ServerWeb.ProductController do
  use ServerWeb, :controller

  alias Server.Products

  # Bandit compresses answers for clients that accept it.
  def index(conn, params) do
    with {:ok, from} <- Products.parse_from(params["from"]) do
      json(conn, Products.from(from))
    end
  end
end
