defmodule ServerWeb.PayloadController do
  use ServerWeb, :controller

  alias Server.{Payload, PingPong}

  def show(conn, _params), do: send_payload(conn, Payload.bytes())

  def ping_pong(conn, _params), do: send_payload(conn, PingPong.ask())

  defp send_payload(conn, bytes) do
    conn
    |> put_resp_content_type("application/octet-stream", nil)
    |> send_resp(:ok, bytes)
  end
end
