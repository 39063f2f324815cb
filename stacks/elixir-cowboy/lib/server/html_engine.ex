defmodule Server.HtmlEngine do
  @moduledoc """
  An engine of EEx for HTML: what `<%= … %>` brings is escaped, unless it is a part of the template.

  Phoenix.HTML has the usual one, which Debian does not have.
  """

  @behaviour EEx.Engine

  @impl true
  defdelegate init(options), to: EEx.Engine

  @impl true
  defdelegate handle_body(state), to: EEx.Engine

  @impl true
  defdelegate handle_begin(state), to: EEx.Engine

  @impl true
  defdelegate handle_text(state, meta, text), to: EEx.Engine

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
  def escape(text) when is_binary(text), do: escape(text, text, 0, 0, [])
  def escape(value), do: value |> to_string() |> escape()

  # The next `length` bytes of `text` from `start` on need no entity, and are copied at once.
  for {character, entity} <- [
        {?&, "&amp;"},
        {?<, "&lt;"},
        {?>, "&gt;"},
        {?", "&quot;"},
        {?', "&#39;"}
      ] do
    defp escape(<<unquote(character), rest::binary>>, text, start, length, html) do
      html = [html, binary_part(text, start, length) | unquote(entity)]
      escape(rest, text, start + length + 1, 0, html)
    end
  end

  defp escape(<<_byte, rest::binary>>, text, start, length, html),
    do: escape(rest, text, start, length + 1, html)

  defp escape("", text, 0, _length, _html), do: text

  defp escape("", text, start, length, html),
    do: IO.iodata_to_binary([html | binary_part(text, start, length)])
end
