defmodule ServerWeb.ProductController do
  use ServerWeb, :controller

  alias Server.Products

  # Bandit compresses answers for clients that accept it.
  def index(conn, params) do
    with {:ok, from} <- Products.parse_from(params["from"]) do
      conn
      |> put_resp_header("vary", "accept-encoding")
      |> json(Products.from(from))
    end
  end
end
