defmodule ServerWeb.ErrorJSON do
  @moduledoc "Bodies of errors, by status: `404.json` and so on."

  def render(template, _assigns) do
    %{errors: %{detail: Phoenix.Controller.status_message_from_template(template)}}
  end
end
