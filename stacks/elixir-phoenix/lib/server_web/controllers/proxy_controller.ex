defmodule ServerWeb.ProxyController do
  use ServerWeb, :controller

  alias Server.Upstream

  def show(conn, _params) do
    with {:ok, response} <- Upstream.fetch() do
      conn
      |> put_resp_header("content-type", content_type(response))
      |> send_resp(:ok, response.body)
    end
  end

  defp content_type(response) do
    case List.keyfind(response.headers, "content-type", 0) do
      {_name, value} -> value
      nil -> "text/plain"
    end
  end
end
