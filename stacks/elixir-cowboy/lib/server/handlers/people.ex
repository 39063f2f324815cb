defmodule Server.Handlers.People do
  @moduledoc "GET and POST /json"

  @behaviour :cowboy_handler

  alias Server.Respond

  @max_body_bytes 1_048_576

  @impl true
  def init(%{method: "POST"} = req, state) do
    case :cowboy_req.parse_header("content-type", req) do
      {"application", "json", _parameters} -> {:ok, greet(req), state}
      _other -> {:ok, Respond.error(req, 415, "Unsupported Media Type"), state}
    end
  end

  def init(req, state), do: {:ok, Respond.json(req, [%{name: "John", username: "Doe"}]), state}

  defp greet(req) do
    case :cowboy_req.read_body(req, %{length: @max_body_bytes}) do
      {:ok, body, req} -> greet(req, decode(body))
      {:more, _beginning, req} -> Respond.error(req, 413, "Content Too Large")
    end
  end

  defp greet(req, {:ok, %{"name" => name, "username" => username}})
       when is_binary(name) and is_binary(username) do
    Respond.text(req, ["Hello, ", name, "!"])
  end

  defp greet(req, {:ok, _}),
    do: Respond.error(req, 400, "expected an object with a name and a username")

  defp greet(req, :error), do: Respond.error(req, 400, "malformed JSON")

  defp decode(body) do
    {:ok, :jiffy.decode(body, [:return_maps])}
  catch
    # Jiffy raises this, wherever the text goes wrong.
    :error, {_position, _reason} -> :error
  end
end
