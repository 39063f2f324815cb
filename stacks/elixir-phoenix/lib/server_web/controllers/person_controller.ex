defmodule ServerWeb.PersonController do
  use ServerWeb, :controller

  def index(conn, _params), do: render(conn, :index, people: [%{name: "John", username: "Doe"}])

  def greet(conn, %{"name" => name}) when is_binary(name), do: text(conn, "Hello, #{name}!")
  def greet(_conn, _params), do: {:error, :bad_request}
end
