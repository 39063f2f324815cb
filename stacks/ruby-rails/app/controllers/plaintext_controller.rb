# frozen_string_literal: true

class PlaintextController < ApplicationController
  def show
    render plain: "Hello, World!"
  end
end
