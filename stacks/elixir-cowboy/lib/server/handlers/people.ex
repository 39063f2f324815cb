defmodule Server.Handlers.People do
  @moduledoc "GET and POST /json"

  @behaviour :cowboy_handler

  alias Server.{JsonBody, Respond}

  @impl true
  def init(%{method: "POST"} = req, state) do
    case JsonBody.read(req, &validate/1) do
      {:ok, name, req} -> {:ok, Respond.text(req, ["Hello, ", name, "!"]), state}
      {:error, status, message, req} -> {:ok, Respond.error(req, status, message), state}
    end
  end

  def init(req, state), do: {:ok, Respond.json(req, [%{name: "John", username: "Doe"}]), state}

  defp validate(%{"name" => name, "username" => username})
       when is_binary(name) and is_binary(username),
       do: {:ok, name}

  defp validate(_other), do: {:error, "expected an object with a name and a username"}
end
