defmodule ServerWeb.PersonJSON do
  def index(%{people: people}) do
    for person <- people, do: %{name: person.name, username: person.username}
  end
end
