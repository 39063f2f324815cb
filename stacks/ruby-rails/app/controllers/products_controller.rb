# frozen_string_literal: true

class ProductsController < ApplicationController
  # In front of this controller alone.
  use Rack::Deflater

  COUNT = 100
  CATEGORIES = %w[books garden kitchen music tools].freeze
  # From 1 to 1000000.
  FROM = /\A(?:[1-9][0-9]{0,5}|1000000)\z/

  def index
    from = params[:from].to_s
    raise ActionController::BadRequest, "from is a number from 1 to 1000000" unless FROM.match?(from)

    render json: Array.new(COUNT) { |index| product(from.to_i + index) }
  end

  private

  def product(id)
    {
      id:,
      name: "Product #{id}",
      category: CATEGORIES[id % CATEGORIES.size],
      price: id * 37 % 10_007,
      stock: id * 31 % 101
    }
  end
end
