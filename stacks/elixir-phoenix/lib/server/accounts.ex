defmodule Server.Accounts do
  @moduledoc "Users."

  import Ecto.Query

  alias Server.Accounts.User
  alias Server.Repo

  @doc "The first ten users."
  def list_first_users do
    Repo.all(from user in User, order_by: user.id, limit: 10)
  end
end
