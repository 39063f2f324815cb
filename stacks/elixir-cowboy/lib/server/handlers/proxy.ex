defmodule Server.Handlers.Proxy do
  @moduledoc "GET /proxy"

  @behaviour :cowboy_handler

  alias Server.{Respond, Upstream}

  @impl true
  def init(req, state), do: {:ok, relay(req, Upstream.get()), state}

  defp relay(req, {:ok, content_type, body}), do: Respond.bytes(req, content_type, body)
  defp relay(req, {:error, _reason}), do: Respond.error(req, 502, "Bad Gateway")
end
