defmodule ServerWeb.PersonController do
  use ServerWeb, :controller

  def index(conn, _params), do: render(conn, :index, people: [%{name: "John", username: "Doe"}])

  # The body's alone: the parameters would also take a name from the query. Nothing but JSON is parsed.
  def greet(%{body_params: %{"name" => name, "username" => username}} = conn, _params)
      when is_binary(name) and is_binary(username) do
    text(conn, "Hello, #{name}!")
  end

  def greet(_conn, _params), do: {:error, :bad_request}
end
