defmodule Server.Fortunes.Fortune do
  use Ecto.Schema

  schema "fortune" do
    field :message, :string
  end
end
