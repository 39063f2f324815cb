defmodule Server.Handlers.Item do
  @moduledoc "GET, PUT and DELETE /items/ID"

  @behaviour :cowboy_handler

  alias Server.{Database, Item, JsonBody, Respond}

  @impl true
  def init(%{method: "PUT"} = req, state) do
    case JsonBody.read(req, &Item.validate/1) do
      {:ok, draft, req} -> {:ok, respond(req, Database.replace_item(id(req), draft)), state}
      {:error, status, message, req} -> {:ok, Respond.error(req, status, message), state}
    end
  end

  def init(%{method: "DELETE"} = req, state) do
    if Database.delete_item(id(req)) do
      {:ok, Respond.no_content(req), state}
    else
      {:ok, respond(req, nil), state}
    end
  end

  def init(req, state), do: {:ok, respond(req, Database.read_item(id(req))), state}

  defp id(req), do: :cowboy_req.binding(:id, req)

  defp respond(req, nil), do: Respond.error(req, 404, "no such item")
  defp respond(req, item), do: Respond.json(req, item)
end
