defmodule ServerWeb.UserJSON do
  def index(%{users: users}) do
    for user <- users, do: %{id: user.id, email: user.email}
  end
end
