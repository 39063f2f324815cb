defmodule Server.Fortunes do
  @moduledoc "Fortunes."

  alias Server.Fortunes.Fortune
  alias Server.Repo

  @doc "All fortunes, in no order."
  def list_fortunes, do: Repo.all(Fortune)
end
