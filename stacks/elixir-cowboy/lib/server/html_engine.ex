defmodule Server.HtmlEngine do
  @moduledoc """
  An engine of EEx for HTML: what `<%= … %>` brings is escaped, unless it is a part of the template.

  Phoenix.HTML has the usual one, which Debian does not have.
  """

  use EEx.Engine

  # The part of the template between `do` and `end`.
  @impl true
  def handle_end(state), do: {:safe, EEx.Engine.handle_end(state)}

  @impl true
  def handle_expr(state, "=", expression) do
    escaped = quote(do: unquote(__MODULE__).escape(unquote(expression)))
    EEx.Engine.handle_expr(state, "=", escaped)
  end

  def handle_expr(state, marker, expression),
    do: EEx.Engine.handle_expr(state, marker, expression)

  @doc "HTML that shows `value`."
  @spec escape(term()) :: String.t()
  def escape({:safe, html}), do: html
  def escape(values) when is_list(values), do: Enum.map_join(values, &escape/1)
  def escape(text) when is_binary(text), do: escape(text, "")
  def escape(value), do: value |> to_string() |> escape()

  for {character, entity} <- [
        {?&, "&amp;"},
        {?<, "&lt;"},
        {?>, "&gt;"},
        {?", "&quot;"},
        {?', "&#39;"}
      ] do
    defp escape(<<unquote(character), rest::binary>>, html),
      do: escape(rest, html <> unquote(entity))
  end

  defp escape(<<byte, rest::binary>>, html), do: escape(rest, <<html::binary, byte>>)
  defp escape("", html), do: html
end
