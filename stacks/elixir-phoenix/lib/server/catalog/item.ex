defmodule Server.Catalog.Item do
  use Ecto.Schema

  import Ecto.Changeset

  schema "items" do
    field :name, :string
    field :price, :integer
  end

  @doc false
  def changeset(item, attrs) do
    item
    # By default a name of blanks alone would count as missing.
    |> cast(attrs, [:name, :price], empty_values: [])
    |> validate_required([:name, :price])
    |> validate_length(:name, max: 100, count: :codepoints)
    |> validate_number(:price, greater_than_or_equal_to: 0, less_than_or_equal_to: 1_000_000)
  end
end
