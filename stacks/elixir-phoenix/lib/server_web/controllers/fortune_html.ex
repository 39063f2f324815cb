defmodule ServerWeb.FortuneHTML do
  use ServerWeb, :html

  embed_templates "fortune_html/*"
end
